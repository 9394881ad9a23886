import { type Changed, changeJson, changeLines } from '../formats/change.ts'
import { jsonDocument } from '../formats/json.ts'
import type { GlobalOptions } from './options.ts'
import type { Output } from './output.ts'
import type { Runtime } from './runtime.ts'

export interface PrintedChange {
  readonly options: GlobalOptions
  /** What the change is called when it is done: `completed`. */
  readonly word: string
  /** Fields of the JSON beside those that every change has. */
  readonly fields?: object | undefined
  /** Printed instead of everything else with `-q`; nothing without it. */
  readonly quietText?: ((changed: Changed) => string) | undefined
  /** Only the first line: what followed from the change went with the stream. */
  readonly isBrief?: boolean
}

/** Prints one change of one stream as `-o` says. */
export async function printChange(
  changed: Changed,
  { options, word, fields, quietText, isBrief = false }: PrintedChange,
  output: Output,
  runtime: Runtime,
): Promise<void> {
  if (options.output === 'json') return output.text(jsonDocument({ ...changeJson(changed), ...fields }))
  if (options.quiet) return quietText && output.text(quietText(changed))
  const lines = changeLines(changed, word, runtime.nowMs(), output.paint)
  return output.lines(isBrief ? lines.slice(0, 1) : lines)
}
