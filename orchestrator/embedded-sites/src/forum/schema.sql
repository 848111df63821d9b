-- The forum's tables. Times are seconds since 1970. What lists are sorted by is computed by SQLite itself from what the
-- rows say, so a vote or a comment can never leave an order behind that is out of date.

create table users (
  id integer primary key autoincrement,
  name text not null,
  name_key text not null unique,
  password text not null,
  created integer not null,
  admin integer not null default 0,
  biography text not null default ''
);

create table forums (
  id integer primary key autoincrement,
  name text not null,
  name_key text not null unique,
  title text not null,
  description text not null,
  sidebar text not null,
  created integer not null,
  featured integer not null default 0,
  subscribers integer not null default 0
);

create table moderators (
  id integer primary key autoincrement,
  forum integer not null references forums(id) on delete cascade,
  user integer not null references users(id) on delete cascade,
  created integer not null,
  unique (forum, user)
);

create table subscriptions (
  id integer primary key autoincrement,
  user integer not null references users(id) on delete cascade,
  forum integer not null references forums(id) on delete cascade,
  unique (user, forum)
);

create table submissions (
  id integer primary key autoincrement,
  forum integer not null references forums(id) on delete cascade,
  user integer not null references users(id),
  title text not null,
  slug text not null,
  url text,
  image text,
  body text not null default '',
  created integer not null,
  edited integer,
  active integer not null,
  up integer not null default 0,
  down integer not null default 0,
  comments integer not null default 0,
  net integer as (up - down) virtual,
  hot integer as (created + max(min(up - down, 400), -20) * 600 + min(comments, 80) * 900) virtual,
  heat integer as ((up + down) * min(up, down) / max(up, down, 1)) virtual
);
create index submissions_new on submissions (forum, created);
create index submissions_active on submissions (forum, active);
create index submissions_hot on submissions (forum, hot);
create index submissions_top on submissions (forum, net);
create index submissions_by on submissions (user, created);
create index all_new on submissions (created);
create index all_active on submissions (active);
create index all_hot on submissions (hot);
create index all_top on submissions (net);
create index all_heat on submissions (heat);
create index all_comments on submissions (comments);

create table comments (
  id integer primary key autoincrement,
  submission integer not null references submissions(id) on delete cascade,
  parent integer references comments(id) on delete cascade,
  user integer not null references users(id),
  body text not null,
  created integer not null,
  edited integer,
  deleted integer not null default 0,
  up integer not null default 0,
  down integer not null default 0
);
create index comments_of on comments (submission);
create index comments_under on comments (parent);
create index comments_by on comments (user, created);
create index comments_new on comments (created);

create table submission_votes (
  id integer primary key autoincrement,
  user integer not null references users(id) on delete cascade,
  submission integer not null references submissions(id) on delete cascade,
  choice integer not null check (choice in (-1, 1)),
  unique (user, submission)
);
create index submission_votes_on on submission_votes (submission);

create table comment_votes (
  id integer primary key autoincrement,
  user integer not null references users(id) on delete cascade,
  comment integer not null references comments(id) on delete cascade,
  choice integer not null check (choice in (-1, 1)),
  unique (user, comment)
);
create index comment_votes_on on comment_votes (comment);

create table messages (
  id integer primary key autoincrement,
  thread integer,
  sender integer not null references users(id),
  receiver integer not null references users(id),
  body text not null,
  created integer not null
);
create index messages_in on messages (thread);
create index messages_of on messages (receiver, created);

create virtual table search using fts5 (title, body, content = 'submissions', content_rowid = 'id');
create trigger search_add after insert on submissions begin
  insert into search (rowid, title, body) values (new.id, new.title, new.body);
end;
create trigger search_drop after delete on submissions begin
  insert into search (search, rowid, title, body) values ('delete', old.id, old.title, old.body);
end;
create trigger search_change after update of title, body on submissions begin
  insert into search (search, rowid, title, body) values ('delete', old.id, old.title, old.body);
  insert into search (rowid, title, body) values (new.id, new.title, new.body);
end;
