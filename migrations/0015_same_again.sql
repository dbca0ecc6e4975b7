-- Whether a request was refused that this node had refused before and asked to wait for longer. Before it had a column, a wait
-- was written down only where it was so: in such rows this is null, and a wait says both.
alter table request_log add column same_again boolean;
