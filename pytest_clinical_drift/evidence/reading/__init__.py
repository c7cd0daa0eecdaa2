"""How a text is cut up: tokens, lines, sentences, dates, amounts and phrases."""
