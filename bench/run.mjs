// npm run bench [-- NAME…] [--report]   runs the benches; exit 1 if a limit is missed, unless with --report
import { globSync } from 'node:fs'
import { parseArgs } from 'node:util'
import { isWithin } from './lib/bench.ts'
import { tableOf } from './lib/table.ts'

const { values, positionals } = parseArgs({ allowPositionals: true, options: { report: { type: 'boolean' } } })
const files = globSync('*.bench.ts', { cwd: import.meta.dirname }).sort()
const names = files.map(file => file.replace('.bench.ts', ''))
const unknown = positionals.filter(name => !names.includes(name))

if (unknown.length > 0) {
  console.error(`error: no such bench: ${unknown.join(', ')}; there are ${names.join(', ')}`)
  process.exitCode = 2
} else {
  const rows = await measure(names.filter(name => positionals.length === 0 || positionals.includes(name)))
  console.log(tableOf(rows))
  if (!values.report && !rows.every(isWithin)) process.exitCode = 1
}

/** In sequence: two benches at a time would measure each other. */
async function measure(chosen) {
  const rows = []
  for (const name of chosen) {
    console.error(`${name} …`)
    /** @type {import('./lib/bench.ts').Bench} */
    const bench = await import(`./${name}.bench.ts`)
    rows.push(...(await bench.run()))
  }
  return rows
}
