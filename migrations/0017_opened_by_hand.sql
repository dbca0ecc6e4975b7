-- Whether an operator moved the breaker. Until now only the words of the reason told.
alter table breaker_event add column by_hand boolean not null default false;
update breaker_event set by_hand = true where reason like 'opened by %' or reason like 'closed by %';
