"""How good the suggestions are: samples that people judge, and what follows from them."""
