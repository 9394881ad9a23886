import { confirmByTyping, confirmYesNo } from '../../cli/confirm.ts'
import { type Problem, problem } from '../../cli/problem.ts'
import type { Runtime } from '../../cli/runtime.ts'
import { counted } from '../../formats/terminal/count-text.ts'
import { visibleName, visibleText } from '../../stream/text.ts'
import { confirmationFor } from '../batch/confirm.ts'
import type { CopyRequest } from './copy-request.ts'
import type { CopyPlan } from './plan-copies.ts'

const NAMES_SHOWN = 20

/** From so many streams on a yes needs their number too. */
const MANY = 50

/** Asks for what writes over streams, and for every copy into a protected store. `undefined` means: go on. */
export async function consent(
  { created, replaced }: CopyPlan,
  { flags, options, isProtected, address }: CopyRequest,
  runtime: Runtime,
): Promise<Problem | undefined> {
  const streams = replaced.length + (isProtected ? created : 0)
  if (flags.expect !== undefined && flags.expect !== streams) return unexpected(flags.expect, streams)
  const how = confirmationFor({ streams, isNamed: false, isProtected, asksAlways: true })
  if (how === 'none' || (flags.yes && (streams < MANY || flags.expect !== undefined))) return undefined
  const isForPrograms = options.output === 'json' || options.output === 'ndjson'
  if (!options.quiet && !isForPrograms) await runtime.stderr.write(preview(replaced))
  const parts = [
    ...(replaced.length > 0 ? [`writes over ${counted(replaced.length, 'stream')}`] : []),
    ...(isProtected && created > 0 ? [`creates ${counted(created, 'stream')}`] : []),
  ]
  const where = `${visibleText(address)}${isProtected ? ', a protected store' : ''}`
  const what = `This ${parts.join(' and ')} in ${where}`
  const answer = streams < MANY ? '--yes' : `--yes --expect ${streams}`
  return how === 'the number'
    ? confirmByTyping(String(streams), what, answer, runtime)
    : confirmYesNo(what, answer, runtime)
}

function preview(replaced: readonly string[]): string {
  if (replaced.length === 0) return ''
  const more = replaced.length - NAMES_SHOWN
  const names = replaced.slice(0, NAMES_SHOWN).map(name => `  ${visibleName(name)}\n`)
  return `written over:\n${names.join('')}${more > 0 ? `  and ${more} more\n` : ''}`
}

function unexpected(expected: number, found: number): Problem {
  return problem('changed', `expected to write over ${expected} streams, found ${found}; nothing was changed`, {
    exit: 5,
    hint: '--dry-run shows which they are.',
  })
}
