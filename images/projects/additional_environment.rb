require '/usr/share/sandbox/site_clock'
# Sessions are signed cookies and nothing else, so that they outlive a restore; nothing is cached, nothing is mailed.
config.redmine_verify_sessions = false
config.cache_store = :null_store
config.redmine_search_cache_store = :null_store
config.action_mailer.perform_deliveries = false
config.logger = ActiveSupport::Logger.new($stdout, level: :warn)
config.hosts.clear
config.middleware.insert_before 0, SiteClock
