"""The gold-anchored judge: what the rules left open about arguments, decided by a model or by further rules.

A run whose verdicts hold a judge's rulings says so in each of them. Reads run folders and decides; it calls no model
(`judging` does, as an ordinary run below the judged one) and changes no verdict itself (`derive` applies the rulings).
"""
