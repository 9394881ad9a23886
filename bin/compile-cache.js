/** Uses the user's cache folder: Node's default is below the temporary folder, where others can write. */
export function enableCompileCache() {
  try {
    const { env, getBuiltinModule } = process
    const caches = env.XDG_CACHE_HOME || `${env.HOME || getBuiltinModule('node:os').homedir()}/.cache`
    const folder = `${caches}/leasectl/compile`
    createFolders(folder, getBuiltinModule('node:fs'), getBuiltinModule('node:path'))
    getBuiltinModule('node:module').enableCompileCache(folder)
  } catch {
    // Without a home folder, as in some containers, the start is a little slower.
  }
}

/** Node's own creation of the folder never ends on a file system that takes no folders, such as /proc. */
function createFolders(path, fs, { dirname }) {
  if (fs.existsSync(path)) return
  if (dirname(path) !== path) createFolders(dirname(path), fs, { dirname })
  fs.mkdirSync(path)
}
