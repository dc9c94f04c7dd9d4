"""tokenizer.json, the file of Hugging Face's tokenizers: one module per section of it.

Every module reads its section into parts of a spec and writes those parts back. The format has no
specification; the source is the serialisation code of tokenizers 0.23.
"""
