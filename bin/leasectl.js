#!/usr/bin/env node
import { unsupportedNode } from './node-version.js'

const program = new URL('../dist/cli.js', import.meta.url)
const problem = unsupportedNode(process.versions.node)

if (problem) {
  console.error(`error: ${problem}`)
  process.exitCode = 2
} else {
  enableCompileCache()
  import(program.href).then(cli => cli.main(), explainMissingBuild)
}

// Uses the user's cache folder: Node's default is below the temporary folder, where others can write.
function enableCompileCache() {
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

// enableCompileCache creates the folder too, but never ends on a file system that takes no folders, such as /proc.
function createFolders(path, fs, { dirname }) {
  if (fs.existsSync(path)) return
  if (dirname(path) !== path) createFolders(dirname(path), fs, { dirname })
  fs.mkdirSync(path)
}

function explainMissingBuild(error) {
  if (error.code !== 'ERR_MODULE_NOT_FOUND' || error.url !== program.href) throw error
  console.error('error: leasectl is not built: dist/cli.js is missing; run "npm run build"')
  process.exitCode = 1
}
