# One project after the other: its people, versions and parts, then its issues with a life of their own.
TALK = File.readlines(File.join(__dir__, 'talk.txt'), chomp: true).map { |line| line.split(': ', 2) }.group_by(&:first).transform_values { |v| v.map(&:last) }
ACTIVITY = %w[Design Development]

def values(text)
  text.include?(';') ? text.split(';') : text.split
end

# The issues of a description: written lines, and series in which the words in braces take turns.
def issues(lines)
  written = lines.grep(/^(Bug|Feature|Support) /).map { |l| l.match(/^(\w+) ([^:]+): (.*)/).captures }
  series = lines.grep(/^series /).flat_map do |l|
    tracker, part, text = l.match(/^series (\w+) ([^:]+): (.*)/).captures
    values(text[/\{(.*)\}/, 1]).map { |v| [tracker, part, text.sub(/\{.*\}/, v)] }
  end
  (written + series).shuffle(random: CHANCE)
end

# A time on a working day between eight and five.
def working(time)
  time = time.utc
  time += 3600 * (8 - time.hour) if time.hour < 8
  time -= 3600 * (time.hour - 16) if time.hour > 16
  time += 86_400 * (time.wday == 6 ? 2 : 1) if [0, 6].include?(time.wday)
  time
end

def make_project(head, body)
  identifier, title, description = head
  lines = body.lines(chomp: true)
  Fixed.at(START)
  project = Project.create!(name: title, identifier: identifier, description: description, is_public: true, trackers: Tracker.sorted.to_a,
                            enabled_module_names: %w[issue_tracking time_tracking news documents files wiki calendar gantt])
  people = lines.grep(/^people: /).first[8..].split(', ').map(&:split)
  people.each { |login, role| Member.create!(project: project, principal: USERS[login], roles: [Role.find_by_name(role)]) }
  versions = lines.grep(/^versions: /).first[10..].split(', ').map do |text|
    name, status, date = text.match(/^(.*) (closed|locked|open) (\S+)$/).captures
    [Version.create!(project: project, name: name, effective_date: date, description: "Due #{Date.parse(date).strftime('%-d %B %Y')}"), status]
  end
  parts = lines.grep(/^parts: /).first[7..].split(', ').to_h do |name|
    [name, IssueCategory.create!(project: project, name: name, assigned_to: USERS[people.first.first])]
  end
  list = issues(lines)
  span = (NOW - START) / list.size
  list.each_with_index do |(tracker, part, subject), i|
    opened = working(START + span * i + CHANCE.rand(60_000))
    make_issue(project, people, versions, parts[part], tracker, subject, [opened, NOW - 7200].min)
  end
  versions.each { |version, status| version.update_column(:status, status) }
end

def make_issue(project, people, versions, category, tracker, subject, opened)
  Fixed.at(opened)
  author = USERS[pick(people).first]
  workers = people.reject { |_, role| role == 'Reporter' }.map { |login, _| USERS[login] }
  worker = pick(workers)
  later = versions.map(&:first).select { |v| v.effective_date > opened.to_date }
  version = CHANCE.rand(5).zero? ? nil : (later.first(2).sample(random: CHANCE) || versions.last.first)
  priority = IssuePriority.find_by_name(pick(%w[Low Normal Normal Normal Normal High High Urgent]))
  issue = Issue.new(project: project, tracker: Tracker.find_by_name(tracker), author: author, subject: subject, category: category,
                    description: "#{pick(TALK[tracker])}\n\nPart concerned: #{category.name}.", priority: priority, fixed_version: version,
                    start_date: opened.to_date, due_date: (version && CHANCE.rand(2).zero? ? version.effective_date : nil),
                    estimated_hours: pick([nil, 1, 2, 3, 5, 8, 13]), status: IssueStatus.find_by_name('New'))
  issue.save!
  live(issue, people, worker, opened)
end

# What becomes of an issue: taken, talked about, worked on, finished; the younger, the less.
def live(issue, people, worker, opened)
  age = (NOW - opened) / 86_400
  open_for_good = issue.fixed_version && issue.fixed_version.effective_date > NOW.to_date + 60
  steps = age > 60 && !open_for_good ? 5 : age > 20 ? CHANCE.rand(2..5) : CHANCE.rand(0..3)
  steps = [steps, 3].min if open_for_good && CHANCE.rand(3) > 0
  steps = 5 if issue.fixed_version&.name && issue.fixed_version.effective_date < NOW.to_date
  time = opened
  moves = [['In Progress', nil], [nil, 'note'], [nil, 'note'], ['Resolved', 'note'], ['Closed', 'done']]
  moves.first(steps).each_with_index do |(status, note), i|
    time = working(time + 3600 * CHANCE.rand(3..90))
    break if time > NOW
    Fixed.at(time)
    who = i.zero? || i == 3 ? worker : USERS[pick(people).first]
    issue = Issue.find(issue.id) # a fresh one: a loaded issue goes on writing into its first journal
    issue.init_journal(who, note ? pick(TALK[note]) : '')
    issue.assigned_to = worker if i.zero?
    issue.status = IssueStatus.find_by_name(status) if status
    issue.done_ratio = [10, 40, 70, 90, 100][i]
    issue.save!
    next if who != worker && i != 2
    TimeEntry.create!(project: issue.project, issue: issue, user: worker, author: worker, spent_on: time.to_date, hours: pick([0.5, 1, 1.5, 2, 3]),
                      activity: TimeEntryActivity.find_by_name(pick(ACTIVITY)), comments: pick(['on the bench', 'on site', 'reading and asking', '', 'with the maker']))
  end
end
