import { missingProblem } from '../../cli/outcome-problem.ts'
import type { Output } from '../../cli/output.ts'
import type { Problem } from '../../cli/problem.ts'
import type { Runtime } from '../../cli/runtime.ts'
import type { EventStore } from '../../store/store.ts'
import { BadDocument } from '../../stream/errors.ts'
import { visibleText } from '../../stream/text.ts'
import { checkLength, decodeDocument } from '../../stream/xml/decode.ts'

/**
 * The stored document: byte by byte into a pipe or file, with its control characters made visible on a terminal.
 * @throws BadDocument for one of which a store hands out only a part
 */
export async function showXml(
  name: string,
  store: EventStore,
  output: Output,
  runtime: Runtime,
): Promise<Problem | undefined> {
  const stored = await store.read(name, runtime.signal)
  if (stored === undefined) return missingProblem(name)
  try {
    checkLength(stored.body)
    if (!runtime.stdout.isTty) await output.text(stored.body)
    else await output.lines(decodeDocument(stored.body).trimEnd().split(/\r?\n/).map(visibleText))
  } catch (error) {
    throw error instanceof BadDocument ? error.in(name) : error
  }
  return undefined
}
