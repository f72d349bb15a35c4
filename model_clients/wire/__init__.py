"""The protocols' messages, and what providers have in common.

openai_json, anthropic_json            requests and replies as JSON
openai_computer, anthropic_computer    the same for their computer tools
reply_schemas                          JSON schemas for typed replies, and the modes of servers
sdk_calls                              API keys, values in responses, and errors of both SDKs
"""
