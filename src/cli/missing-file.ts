import { existsSync } from 'node:fs'
import { parseAddress } from '../store/address.ts'
import { CommandFailed, type Problem, problem } from './problem.ts'

/** Of an embedded store that nobody has written to yet: that its file does not exist. `undefined` for all others. */
export function missingFile(address: string): string | undefined {
  const parsed = parseAddress(address)
  return parsed.kind === 'sqlite' && !existsSync(parsed.path) ? 'the file does not exist (yet)' : undefined
}

/** A mistyped path looks like an empty store, in which nothing can ever be wrong. @throws CommandFailed */
export function requireFile(address: string): void {
  const missing = missingFile(address)
  if (missing === undefined) return
  throw new CommandFailed(
    problem('container-missing', `there is no store in ${address}: ${missing}`, {
      hint: 'Is it the right path? The first stream makes the file.',
    }),
  )
}

/** A stream that was not found, with the reason if its store has no file: a mistyped path looks like an empty store. */
export function withMissingFile(what: Problem, address: string | undefined): Problem {
  if (what.code !== 'stream-not-found' || address === undefined || missingFile(address) === undefined) return what
  return { ...what, hint: `Is it the right store? ${address} does not exist (yet).` }
}
