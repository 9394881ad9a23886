import { mkdir, rm, writeFile } from 'node:fs/promises'
import { fileURLToPath } from 'node:url'
import { extractApi } from './api/extract.mjs'
import { renderApi } from './api/render.mjs'

const FOLDER = fileURLToPath(new URL('../docs/api/', import.meta.url))

const { exports, faults } = await extractApi()
for (const fault of faults) console.error(fault)
const pages = renderApi(exports)
await rm(FOLDER, { recursive: true, force: true })
await mkdir(FOLDER)
for (const [name, text] of pages) await writeFile(`${FOLDER}${name}`, text)
console.log(`docs/api: ${exports.length} exports on ${pages.size} pages`)
if (faults.length > 0) process.exitCode = 1
