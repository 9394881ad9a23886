import { accessSync, constants, statSync } from 'node:fs'
import { join } from 'node:path'
import { errorCode } from '../util/errors.ts'

/** Where a program is, as a shell looks for it. */
export type FoundProgram =
  | { readonly kind: 'found'; readonly path: string }
  | { readonly kind: 'missing' }
  /** It is there, but cannot be run: no right to, or a folder. */
  | { readonly kind: 'not-executable'; readonly path: string }

/** Where the system looks if nothing says where. */
const USUAL_PATH = '/usr/local/bin:/usr/bin:/bin'

/** @param path the variable `PATH` */
export function findProgram(name: string, path: string | undefined): FoundProgram {
  if (name === '') return { kind: 'missing' }
  // an empty part of PATH is the working folder
  const places = name.includes('/') ? [name] : (path ?? USUAL_PATH).split(':').map(folder => join(folder || '.', name))
  const looked = places.map(place => ({ place, what: lookAt(place) }))
  const found = looked.find(({ what }) => what === 'program')
  if (found !== undefined) return { kind: 'found', path: found.place }
  const other = looked.find(({ what }) => what === 'other')
  return other === undefined ? { kind: 'missing' } : { kind: 'not-executable', path: other.place }
}

function lookAt(place: string): 'program' | 'other' | 'nothing' {
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
