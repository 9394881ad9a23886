import { UsageError } from '../../cli/problem.ts'
import type { Runtime } from '../../cli/runtime.ts'
import { LeasectlError } from '../../stream/errors.ts'
import type { EventSpec } from '../../stream/operations/operation.ts'
import { decodeDocument } from '../../stream/xml/decode.ts'

const HINT = "--fork A,B, --fork 'Search:key=a,Search:key=b', or --fork @FILE with a YAML list of events"

/**
 * The new threads that `--fork` describes: `NAME`, `NAME:ATTRIBUTE=VALUE:…`, or `@FILE` with a list of events as in a template.
 *
 * @throws UsageError if one cannot be read
 */
export async function readForks(given: readonly string[], runtime: Runtime): Promise<readonly EventSpec[]> {
  const read = given.map(text => (text.startsWith('@') ? fileForks(text.slice(1), runtime) : oneFork(text)))
  return (await Promise.all(read)).flat()
}

/** A name without a colon is the usual case, and needs no parser. */
async function oneFork(text: string): Promise<readonly EventSpec[]> {
  if (!text.includes(':')) return [{ name: text }]
  return inFork(text, async () => {
    const [{ eventNamed }, { forkFields }] = await Promise.all([
      import('../init/template-yaml.ts'),
      import('../../worker/program/output-file.ts'),
    ])
    return [eventNamed(forkFields(text))]
  })
}

async function fileForks(path: string, runtime: Runtime): Promise<readonly EventSpec[]> {
  return inFork(`@${path}`, async () => {
    const bytes = await runtime.readFile(path).catch((cause: unknown) => {
      throw new UsageError('the file cannot be read', { cause })
    })
    const { yamlEvents } = await import('../init/template-yaml.ts')
    return yamlEvents(decodeDocument(bytes))
  })
}

async function inFork<T>(text: string, read: () => Promise<T>): Promise<T> {
  try {
    return await read()
  } catch (cause) {
    if (!(cause instanceof LeasectlError)) throw cause
    throw new UsageError(`--fork ${text}: ${cause.message}`, { cause, hint: cause.hint ?? HINT })
  }
}
