import type { StreamSnapshot } from '../../store/store.ts'
import { BadDocument } from '../../stream/errors.ts'
import { commandWords } from '../../util/strings.ts'
import { parseBody } from '../transact/plan.ts'
import { documentFindings } from './document.ts'
import { examine } from './examined-stream.ts'
import { bounded, type Finding } from './finding.ts'
import { progressFindings } from './progress.ts'
import { structureFindings } from './structure.ts'
import { timeFindings } from './times.ts'

export type { Finding, Severity } from './finding.ts'

/**
 * The findings about a stream, worst first, at most 20 of each kind; empty for a sound one. An unreadable document is a
 * finding too.
 *
 * @param nowMs the store's clock, epoch ms
 */
export function streamFindings(stored: StreamSnapshot, nowMs: number): readonly Finding[] {
  try {
    return bounded(found(stored, nowMs))
  } catch (error) {
    if (error instanceof BadDocument) return [unreadable(stored.name, error)]
    throw error
  }
}

function* found(stored: StreamSnapshot, nowMs: number): Generator<Finding> {
  const document = parseBody(stored.body, undefined)
  const [root] = document.events
  if (root === undefined) {
    yield notStarted(stored)
    return
  }
  const subject = examine(stored, document, root, nowMs)
  yield* structureFindings(subject)
  yield* progressFindings(subject)
  yield* timeFindings(subject)
  yield* documentFindings(subject)
}

function notStarted({ name, size }: StreamSnapshot): Finding {
  return {
    severity: 'info',
    code: 'not-started',
    subject: '',
    message: size === 0 ? 'it has 0 bytes: a placeholder for a stream' : 'the document holds no event yet',
    command: commandWords(['init'], [name]),
  }
}

function unreadable(name: string, { message, hint }: BadDocument): Finding {
  return {
    severity: 'error',
    code: 'unreadable',
    subject: '',
    message: `the document cannot be read: ${message}`,
    hint: hint ?? 'It is never overwritten. Repair it, or restore an earlier copy.',
    command: commandWords(['show'], [name], ['-o', 'xml']),
  }
}
