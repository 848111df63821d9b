# The pages of each project's wiki, with one later change to some of them.
blocks('wiki.txt').each_with_index do |((identifier, title), text), i|
  project = Project.find(identifier)
  Fixed.at(Time.utc(2023, 1, 10, 10, 5) + 7 * 86_400 * i)
  wiki = project.wiki || Wiki.create!(project: project, start_page: 'Wiki')
  page = wiki.find_page(title) || WikiPage.new(wiki: wiki, title: title)
  page.parent = wiki.find_page('Wiki') unless title == 'Wiki'
  author = project.members.first.user
  page.save_with_content(WikiContent.new(page: page, text: text.gsub("\r", ''), author: author, comments: 'First text'))
  next unless i.even?
  Fixed.at(Time.utc(2023, 5, 2, 9, 40) + 86_400 * i)
  page.reload
  page.content.text += "\n\nLast read through on #{Date.today.strftime('%-d %B %Y')}."
  page.content.author = project.members.last.user
  page.content.comments = 'Read through'
  page.save_with_content(page.content)
end
