"""From the words of a reply to directives; what must and must not be among them."""
