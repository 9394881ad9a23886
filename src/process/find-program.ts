import { accessSync, constants, statSync } from 'node:fs'
import { join } from 'node:path'
import { errorCode } from '../util/errors.ts'

/** Result of looking up a program in the way of a shell. */
export type FoundProgram =
  | { readonly kind: 'found'; readonly path: string }
  | { readonly kind: 'missing' }
  /** It exists, but cannot be executed: no permission, or a folder. */
  | { readonly kind: 'not-executable'; readonly path: string }

/** The system's default for `PATH`. */
const USUAL_PATH = '/usr/local/bin:/usr/bin:/bin'

/** @param path the variable `PATH` */
export function findProgram(name: string, path: string | undefined): FoundProgram {
  if (name === '') return { kind: 'missing' }
  // an empty part of PATH is the working folder
  const places = name.includes('/') ? [name] : (path ?? USUAL_PATH).split(':').map(folder => join(folder || '.', name))
  const program = places.find(place => kindOf(place) === 'program')
  if (program !== undefined) return { kind: 'found', path: program }
  const other = places.find(place => kindOf(place) === 'other')
  return other === undefined ? { kind: 'missing' } : { kind: 'not-executable', path: other }
}

function kindOf(place: string): 'program' | 'other' | 'nothing' {
  try {
    if (!statSync(place).isFile()) return 'other'
  } catch (error) {
    return errorCode(error) === 'EACCES' ? 'other' : 'nothing'
  }
  try {
    accessSync(place, constants.X_OK)
    return 'program'
  } catch {
    return 'other'
  }
}
