import { type Changed, changeJson, changeLines } from '../formats/change.ts'
import { jsonDocument } from '../formats/json.ts'
import type { GlobalOptions } from './options.ts'
import type { Output } from './output.ts'
import type { Runtime } from './runtime.ts'

export interface PrintedChange {
  readonly options: GlobalOptions
  /** Past participle of the change: `completed`. */
  readonly word: string
  /** Further fields of the JSON. */
  readonly fields?: object | undefined
  /** The only output with `-q`; without this function `-q` prints nothing. */
  readonly quietText?: ((changed: Changed) => string) | undefined
  /** Print only the first line: a removed stream leaves no consequences to list. */
  readonly isBrief?: boolean
}

/** Prints one change of one stream in the format of `-o`. */
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
