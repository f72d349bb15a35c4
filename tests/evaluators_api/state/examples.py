"""One small text per format of state, with what an edit of it looks like."""

EXAMPLES: dict[str, tuple[str, str]] = {
    "lines": ("a.txt", "first\nsecond\n\nthird\n"),
    "delimited": ("a.csv", 'id,item,amount\n1,"Desk, oak",120\n2,Lamp,35\n3,,7\n'),
    "json_tree": (
        "a.json",
        (
            '{"theme": "dark", "size": 12, "items": [{"id": "a", "text": "one"}, {"id": "b", "text":'
            ' "t\\u00fco"}], "tags": ["x", "y"], "none": {}}'
        ),
    ),
    "key_values": ("a.tid", "title: Shopping\ntags: home [[to do]]\n\nBuy milk\nand bread\n"),
    "markup": (
        "a.drawio",
        (
            '<mxfile host="h">\n  <diagram id="p" name="Page-1"><root><mxCell id="0"/><mxCell id="2"'
            ' value="R&amp;D"/></root></diagram>\n  <note>one</note><note>two &lt; three</note></mxfile>\n'
        ),
    ),
    "drawing": (
        "a.excalidraw",
        (
            '{"type": "excalidraw", "elements": [{"id": "a", "type": "rectangle", "x": 3, "seed": 17}, {"id":'
            ' "b", "type": "text", "text": "Boat house", "seed": 4}, {"id": "c", "type": "arrow"}],'
            ' "appState": {}}'
        ),
    ),
    "database": (
        "shop.db",
        (
            'CREATE TABLE "orders"("id", "item", "amount"); -- 2 rows\n'
            "INSERT INTO \"orders\" VALUES(2, 'It''s\nhere', 3.5);\n"
            "INSERT INTO \"orders\" VALUES(1, NULL, X'00ff');\n"
            'CREATE TABLE "empty"("a"); -- 0 rows\n'
        ),
    ),
    "yaml_tree": (
        "a.yaml",
        (
            "theme: dark\nsize: 12\nitems:\n  - id: a\n    text: one\n  - id: b\n    text: 'two'\n"
            "tags: [x, y]\nlist:\n- 1\n-\n- 2\nempty:\nnote: |\n  several\n  lines\nlast: end\n"
        ),
    ),
    "front_matter": (
        "a.md",
        (
            "---\ntitle: Paint the fence\ntext: short\ntags:\n- home\n- out\nbucket:\n"
            "updated_at: '2026-03-02T09:00:00Z'\nlast:\n---\n\n# Spring\n\nBuy paint\n---\nand brushes\n"
        ),
    ),
    "ledger": (
        "a.beancount",
        (
            'option "title" "Home"\n\n2024-01-01 open Assets:Cash EUR\n\n'
            '2024-01-05 * "Shop" "Bread and milk"\n  ref: "12"\n  Expenses:Food  12.50 EUR\n  Assets:Cash\n\n'
            '2024-01-06 ! "Rent"\n  Expenses:Rent  800.00 EUR\n  Assets:Cash  -800.00 EUR\n'
        ),
    ),
}
