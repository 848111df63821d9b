# Compiled code is kept in the image: a start takes half the processor time.
require 'bootsnap'

Bootsnap.setup(cache_dir: '/var/cache/bootsnap', load_path_cache: true, compile_cache_iseq: true,
               compile_cache_yaml: false, compile_cache_json: false)

# What is not kept is compiled as ever: nothing can be added in a container that may not write.
Bootsnap::CompileCache::ISeq.singleton_class.prepend(Module.new do
  def fetch(...)
    super
  rescue SystemCallError
    nil
  end
end)
