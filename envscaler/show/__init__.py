"""What people see: records as HTML (`view`), widgets over them (`inspector`), statistics (`stats`), pictures.

Nothing here makes or judges a record; the stages do.
"""
