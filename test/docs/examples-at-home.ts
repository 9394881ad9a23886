import { cpSync, mkdirSync, symlinkSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import type { User } from '../e2e/program.ts'

const EXAMPLES = fileURLToPath(new URL('../../examples/', import.meta.url))

/** The environment of a user with the installed package: `examples`, the library as `leasectl`, this Node as `node`. */
export function bringExamples({ home, bin }: User): void {
  for (const folder of ['drone', 'ingest', 'library', 'read-model', 'saga', 'workers']) {
    cpSync(join(EXAMPLES, folder), join(home, 'examples', folder), { recursive: true })
  }
  const installed = join(home, 'node_modules', 'leasectl')
  mkdirSync(installed, { recursive: true })
  symlinkSync(join(dirname(dirname(bin)), 'dist'), join(installed, 'dist'))
  writeFileSync(join(installed, 'package.json'), '{ "type": "module", "exports": { ".": "./dist/index.js" } }')
  symlinkSync(process.execPath, join(home, 'bin', 'node'))
}
