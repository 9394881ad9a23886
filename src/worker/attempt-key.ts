import { createHash } from 'node:crypto'

/** Fits a command id with something in front of it, and the name of a file. */
const MOST_LENGTH = 150

/**
 * Names one attempt of one event in one life of its stream: `BORN_EVENT_ATTEMPT`. It has only letters, digits, `.`, `-`, `_`
 * and `%`, and is the same for whoever takes up the same attempt after it was handed back. What would be too long is hashed.
 */
export function attemptKey(born: string, event: string, attempt: number): string {
  const key = `${encoded(born)}_${encoded(event)}`
  const short = key.length <= MOST_LENGTH ? key : createHash('sha256').update(key).digest('hex')
  return `${short}_${attempt}`
}

/** `encodeURIComponent`, and what it leaves that is not in the set; the separator is not in it. */
function encoded(text: string): string {
  return encodeURIComponent(text.toWellFormed()).replace(
    /[!'()*~_]/g,
    character => `%${character.charCodeAt(0).toString(16).toUpperCase()}`,
  )
}
