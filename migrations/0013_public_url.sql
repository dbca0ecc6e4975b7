-- Where people reach the portal of a node, as the process that serves it was told: commands make their links of it.
alter table node add column public_url text;
