import { commandLine } from '../../cli/command-line.ts'
import type { Context, Contexts } from '../../cli/contexts/contexts.ts'
import { readContexts } from '../../cli/contexts/file.ts'
import type { GlobalOptions } from '../../cli/options.ts'
import { type Output, openOutput } from '../../cli/output.ts'
import type { Problem } from '../../cli/problem.ts'
import type { Runtime } from '../../cli/runtime.ts'
import { jsonDocument } from '../../formats/json.ts'
import { type Cell, table } from '../../formats/terminal/table.ts'
import { compareNames } from '../../store/names.ts'
import { visibleText } from '../../stream/text.ts'
import { contextJson, overriding } from './text.ts'

/** All contexts, sorted by name. */
export async function listContexts(options: GlobalOptions, runtime: Runtime): Promise<Problem | undefined> {
  const output = await openOutput(options, runtime)
  const contexts = readContexts(runtime.env)
  const sorted = [...contexts.byName.values()].sort((a, b) => compareNames(a.name, b.name))
  await print(options.output, sorted, contexts, output)
  if (sorted.length === 0)
    await output.say(`no contexts; ${commandLine(runtime, ['context', 'add', 'NAME', '--store', 'ADDRESS'])} adds one`)
  const before = contexts.current === undefined ? undefined : overriding(runtime)
  if (before !== undefined) await output.say(before)
  return undefined
}

async function print(
  format: string | undefined,
  sorted: readonly Context[],
  contexts: Contexts,
  output: Output,
): Promise<void> {
  switch (format) {
    case 'json':
      return output.text(jsonDocument({ items: sorted.map(context => contextJson(context, contexts)) }))
    case 'name':
      return output.lines(sorted.map(({ name }) => name))
    default: {
      const rows = sorted.map(context => row(context, contexts))
      const width = output.width === undefined ? {} : { width: output.width }
      return output.lines(table(COLUMNS, rows, { paint: output.paint, ...width }))
    }
  }
}

const COLUMNS = [
  { title: ' ' },
  { title: 'NAME' },
  { title: 'STORE', give: 1, min: 20 },
  { title: 'PROTECTED' },
  { title: 'CREDENTIALS', give: 2, min: 11 },
]

function row({ name, store, isProtected, credentialFile = '' }: Context, { current }: Contexts): Cell[] {
  return [
    name === current ? { text: '*', style: 'active' } : '',
    name === current ? { text: name, style: 'active' } : name,
    visibleText(store),
    isProtected ? { text: 'yes', style: 'warn' } : '',
    visibleText(credentialFile),
  ]
}
