#!/usr/bin/env node
import { enableCompileCache } from './compile-cache.js'
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

function explainMissingBuild(error) {
  if (error.code !== 'ERR_MODULE_NOT_FOUND' || error.url !== program.href) throw error
  console.error('error: leasectl is not built: dist/cli.js is missing; run "npm run build"')
  process.exitCode = 1
}
