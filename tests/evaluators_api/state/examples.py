"""One small text per format of state, with what an edit of it looks like."""

EXAMPLES: dict[str, tuple[str, str]] = {
    "lines": ("a.txt", "first\nsecond\n\nthird\n"),
    "delimited": ("a.csv", 'id,item,amount\n1,"Desk, oak",120\n2,Lamp,35\n3,,7\n'),
    "json_tree": (
        "a.json",
        '{"theme": "dark", "size": 12, "items": [{"id": "a", "text": "one"}, {"id": "b", "text": "t\\u00fco"}], "tags": ["x", "y"], "none": {}}',
    ),
    "key_values": ("a.tid", "title: Shopping\ntags: home [[to do]]\n\nBuy milk\nand bread\n"),
    "markup": (
        "a.drawio",
        '<mxfile host="h">\n  <diagram id="p" name="Page-1"><root><mxCell id="0"/><mxCell id="2" value="R&amp;D"/></root></diagram>\n'
        "  <note>one</note><note>two &lt; three</note></mxfile>\n",
    ),
    "database": (
        "shop.db",
        'CREATE TABLE "orders"("id", "item", "amount"); -- 2 rows\n'
        "INSERT INTO \"orders\" VALUES(2, 'It''s\nhere', 3.5);\n"
        "INSERT INTO \"orders\" VALUES(1, NULL, X'00ff');\n"
        'CREATE TABLE "empty"("a"); -- 0 rows\n',
    ),
}
