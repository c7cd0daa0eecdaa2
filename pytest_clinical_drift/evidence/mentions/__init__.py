"""How a mention is meant: denied, uncertain, past, of whom; and the quantities that belong to it."""
