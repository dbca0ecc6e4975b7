-- Who handed a link out: once that person is removed, what they handed out and nobody has used opens nothing. Null: the
-- gateway itself, or before it was written down.
alter table invitation add column made_by text;
alter table password_reset add column made_by text;
