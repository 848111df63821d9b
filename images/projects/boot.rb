# Redmine's libraries without Bundler, which resolves versions: Debian has one of each, and RubyGems finds it.
ENV['RAILS_ENV'] ||= 'production'
require '/usr/share/sandbox/bootsnap'

module Bundler
  # What Redmine's Gemfile has its application load.
  def self.require(*)
    %w[rails rouge request_store mini_mime actionpack-xml_parser roadie-rails marcel mail csv nokogiri i18n rbpdf addressable
       net/smtp net/imap net/pop rotp rqrcode sqlite3].each { |library| Kernel.require library }
  end
end
