"""Humans over gold and judges: seeded samples, blinded review, agreement, corrections; and checks of published tables.

Not for judging a model: what a reviewer says never changes a verdict. It measures how far references and
attributions can be trusted, and flows back into a suite only as a new version.
"""
