-- The records of all tables. Views of the name of each table show its columns, for probes.
create table record (
    id integer primary key, -- the order of lists without an order
    tab text not null,      -- the table itself, not one that it extends
    sys_id text not null unique,
    fields text not null    -- a JSON object of texts, without empty ones
);
create index record_tab on record (tab);
-- Numbers that go up: of new records, by the prefix of their numbers, and of new ids.
create table counter (name text primary key, value integer not null);
-- What visitors have put into their carts.
create table cart (
    id integer primary key,
    owner text not null,   -- the user's sys_id
    item text not null,    -- the catalogue item's sys_id
    quantity integer not null,
    options text not null  -- a JSON object: values by the option's sys_id
);
-- What has no table: the schema, the navigator, the catalogue, dashboards, reports.
create table document (name text primary key, json text not null);
