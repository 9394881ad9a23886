/** Keeps compiled code in the user's cache folder: Node's default is below the temporary folder, where others can write. */
export function enableCompileCache() {
  try {
    const { env, getBuiltinModule } = process
    const caches = env.XDG_CACHE_HOME || `${env.HOME || getBuiltinModule('node:os').homedir()}/.cache`
    getBuiltinModule('node:module').enableCompileCache(`${caches}/leasectl/compile`)
  } catch {
    // Without a home folder, as in some containers, the start is a little slower.
  }
}
