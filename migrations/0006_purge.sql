-- What operators have told the caches to forget. Nodes follow it by number.

-- One row. Its lock makes purges commit in the order of their numbers.
create table purge_number (
    only_row boolean primary key default true check (only_row),
    last     bigint not null
);
insert into purge_number (last) values (0);

create table purge (
    seq    bigint primary key,
    at     timestamptz not null default now(),
    kind   text not null check (kind in ('url', 'prefix', 'tag')),
    -- Path and query, the beginning of paths, or a tag.
    target text not null check (target <> '' and octet_length(target) <= 2048),
    -- An operator's email, or the command.
    by     text not null
);
create index purge_at on purge (at);
