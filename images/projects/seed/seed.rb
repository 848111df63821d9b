# Fills Redmine with the projects of Corvane Instruments: people, issues with their talk, versions, wiki, time.
require_relative 'fixed'

START = Time.utc(2022, 11, 7, 8, 30)
NOW = Time.utc(2023, 6, 15, 8, 50)
PASSWORD = 'quayside-2023'
PEOPLE = {
  'emma' => %w[Emma Whitlock], 'bob' => %w[Bob Tanner], 'priya' => %w[Priya Nair], 'tomas' => %w[Tomas Lindgren],
  'grace' => %w[Grace Okafor], 'lena' => %w[Lena Brandt], 'kofi' => %w[Kofi Mensah], 'anja' => %w[Anja Ziegler],
  'sven' => %w[Sven Aalto], 'marta' => %w[Marta Ruiz], 'noor' => %w[Noor Haddad], 'jonas' => %w[Jonas Hale],
  'felix' => %w[Felix Moreau], 'mira' => %w[Mira Kovac]
}.freeze

# Blocks of a file that begin with "## a | b | c".
def blocks(name)
  File.read(File.join(__dir__, name)).split(/^## /).drop(1).map do |block|
    head, body = block.split("\n", 2)
    [head.split(' | '), body.strip]
  end
end

Fixed.at(START)
# Mail jobs would run beside the seed and draw from the same chance.
class IdleAdapter
  def enqueue(*) = nil

  def enqueue_at(*) = nil
end
ActiveJob::Base.queue_adapter = IdleAdapter.new
Redmine::DefaultData::Loader.load('en')
{ 'app_title' => 'Corvane Projects', 'welcome_text' => 'Projects of Corvane Instruments, Quay Street 18, Port Ellery.',
  'login_required' => '0', 'self_registration' => '0', 'default_language' => 'en', 'notified_events' => [],
  'host_name' => 'projects.test', 'protocol' => 'https', 'rest_api_enabled' => '1', 'text_formatting' => 'textile',
  'default_projects_public' => '1', 'lost_password' => '0', 'gravatar_enabled' => '0', 'mail_from' => 'projects@corvane.test',
  'date_format' => '%Y-%m-%d', 'time_format' => '%H:%M', 'user_format' => 'firstname_lastname',
  'default_users_time_zone' => 'UTC', 'force_default_language_for_anonymous' => '1' }.each { |k, v| Setting[k] = v }

def person(login, first, last, admin: false)
  user = User.find_by_login(login) || User.new(language: 'en', mail_notification: 'none')
  user.login = login
  user.assign_attributes(firstname: first, lastname: last, mail: "#{login}@corvane.test", must_change_passwd: false)
  user.password = user.password_confirmation = PASSWORD
  user.admin = admin
  user.save!
  user.pref.update!(time_zone: 'UTC', others: user.pref.others)
  [login, user]
end

USERS = PEOPLE.to_h { |login, (first, last)| person(login, first, last) }
person('admin', 'Project', 'Administrator', admin: true)
bug = Tracker.find_by_name('Bug')
task = Tracker.create!(name: 'Task', default_status: IssueStatus.find_by_name('New'), position: 4)
task.copy_workflow_rules(bug)
require_relative 'projects'
blocks('projects.txt').each { |head, body| make_project(head, body) }
require_relative 'wiki'
Fixed.at(NOW)
IssueQuery.new(name: 'Late issues', visibility: Query::VISIBILITY_PUBLIC, user: User.find_by_login('admin'),
               filters: { 'status_id' => { operator: 'o', values: [''] }, 'due_date' => { operator: '<t-', values: ['0'] } },
               sort_criteria: [%w[due_date asc]]).save!
IssueQuery.new(name: 'Urgent and high', visibility: Query::VISIBILITY_PUBLIC, user: User.find_by_login('admin'),
               filters: { 'status_id' => { operator: 'o', values: [''] },
                          'priority_id' => { operator: '=', values: IssuePriority.where(name: %w[High Urgent]).map { |p| p.id.to_s } } },
               sort_criteria: [%w[priority desc]]).save!
# Keys of the Atom links, which would be drawn when a page with one is first shown.
User.logged.order(:id).each(&:atom_key)
[['harbour-buoys', 'Regatta on 24 June', 'Buoys 11 to 16 carry the new software before the regatta. Nobody opens a lid between Friday 18:00 and Sunday night.'],
 ['data-service', '2.1 in July', 'Night colours are nearly done; the wind arrow moves to 2.2.'],
 ['office-moves', 'Summer party', 'It is the boathouse, on Friday 7 July at 17:30. Bring the extension lead.']].each_with_index do |(id, title, text), i|
  Fixed.at(Time.utc(2023, 6, 5 + 3 * i, 9, 20))
  News.create!(project: Project.find(id), author: USERS['grace'], title: title, summary: text.split('.').first + '.', description: text)
end
