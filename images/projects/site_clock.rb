# The site's clock for Ruby: the file that SITE_CLOCK_FILE names is read at the start of each request, and stands until the next.
require 'date'

class SiteClock
  class << self
    attr_reader :time

    def read
      @time = Time.new(*File.read(ENV['SITE_CLOCK_FILE']).scan(/\d+/).first(6).map(&:to_i), '+00:00').localtime
    end
  end

  module Now
    def now(**zone)
      SiteClock.time ? Time.at(SiteClock.time, **zone) : super
    end
  end

  module Today
    def today(*start)
      SiteClock.time ? SiteClock.time.to_date : super
    end
  end

  module MomentNow
    def now(*start)
      SiteClock.time ? SiteClock.time.to_datetime : super
    end
  end

  def initialize(app)
    @app = app
    return unless ENV['SITE_CLOCK_FILE']

    SiteClock.read
    Time.singleton_class.prepend(Now)
    Date.singleton_class.prepend(Today)
    DateTime.singleton_class.prepend(MomentNow)
  end

  def call(env)
    SiteClock.read if ENV['SITE_CLOCK_FILE']
    @app.call(env)
  end
end
