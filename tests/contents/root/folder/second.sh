echo two
