// Writes docs/man/leasectl.1, the man page, from the commands as the program declares them.
import { writeFile } from 'node:fs/promises'
import { fileURLToPath } from 'node:url'
import { catalogueOf } from '../src/commands/help/catalogue.ts'
import { programRuntime } from '../src/commands/main.ts'
import { buildProgram } from '../src/commands/program.ts'
import { renderMan } from './man/render.mjs'

const FILE = fileURLToPath(new URL('../docs/man/leasectl.1', import.meta.url))

const program = buildProgram(programRuntime(new AbortController().signal), () => {})
const page = renderMan(catalogueOf(program))
await writeFile(FILE, page)
console.log(`docs/man/leasectl.1: ${page.split('\n').length} lines`)
