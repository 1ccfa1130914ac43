"""Exhibits: tables and pictures as data (`parts`), drawings (`draw`), and their forms (`forms`).

What stands in an exhibit is said by `presets`, `across` and `queried`; nothing is counted or computed here.
"""
