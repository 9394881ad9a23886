import { dirname, join } from 'node:path'
import { configFolder } from '../folders.ts'
import { type Contexts, NO_CONTEXTS } from './contexts.ts'
import { checkFolder, readPrivateFile } from './private-file.ts'
import { parseContexts } from './text.ts'

export type Environment = Readonly<Record<string, string | undefined>>

/** Where the contexts are kept. */
export function contextsPath(env: Environment): string {
  return join(configFolder(env), 'contexts.json')
}

/**
 * The contexts of this user; without a file none.
 * @throws UsageError for a file that others may read or write, or that says what cannot be understood
 */
export function readContexts(env: Environment): Contexts {
  const path = contextsPath(env)
  const text = readPrivateFile(path)
  if (text === undefined) return NO_CONTEXTS
  checkFolder(dirname(path))
  return parseContexts(text, path)
}
