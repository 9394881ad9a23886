// Writes what is generated from the commands as the program declares them: docs/man/leasectl.1, the man page, and
// src/commands/outlines.json, the list that --help prints without loading the declarations.
import { writeFile } from 'node:fs/promises'
import { fileURLToPath } from 'node:url'
import { catalogueOf } from '../src/commands/help/catalogue.ts'
import { TOPICS } from '../src/commands/help/topics.ts'
import { programRuntime } from '../src/commands/main.ts'
import { declarations, outlinesOf, programOf } from '../src/commands/program.ts'
import { renderMan } from './man/render.mjs'

const ROOT = fileURLToPath(new URL('../', import.meta.url))

const program = programOf(await declarations(), programRuntime(new AbortController().signal), () => {})
await write('docs/man/leasectl.1', renderMan(catalogueOf(program, TOPICS)))
await write('src/commands/outlines.json', `${JSON.stringify(outlinesOf(program), null, 2)}\n`)

/**
 * @param {string} file
 * @param {string} text
 */
async function write(file, text) {
  await writeFile(`${ROOT}${file}`, text)
  console.log(`${file}: ${text.split('\n').length} lines`)
}
