"""What a live model computes: one pass is recorded, and the recording is played as a forward pass over the vocabulary of ``program``.

``recording`` is the value in the middle. A recorder of a framework (``torch_recorder``) makes it, a table of that framework's operators
(``torch_*``) says what each operator is, ``playing`` turns it into a program, ``lettered`` merges recordings at several sizes into one
with letters, and ``computed`` is the layer that holds all this.
"""
