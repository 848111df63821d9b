# Redmine keeps settings in memory and trusts their newest date: after the state is put back that date lies in the future.
Rails.application.config.to_prepare do
  Setting.singleton_class.prepend(Module.new { def check_cache = clear_cache })
end
