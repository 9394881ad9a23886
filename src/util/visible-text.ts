/** C0, DEL, C1, bidirectional controls, line and paragraph separator. */
const UNSAFE = /[\u0000-\u001f\u007f-\u009f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069]/
const ALL_UNSAFE = new RegExp(UNSAFE, 'g')

/** An untrusted text for one line of a terminal: control characters are made visible, nothing is dropped. */
export function visibleText(text: string): string {
  return UNSAFE.test(text) ? text.replace(ALL_UNSAFE, visibleCharacter) : text
}

/** Invisible characters, look-alikes of the space, and spaces at the ends. Emoji and some scripts need some of them. */
const INVISIBLE = /[\p{Default_Ignorable_Code_Point}\p{Cf}\u2800]|(?! )\p{Zs}|^ | $/u
const ALL_INVISIBLE = new RegExp(INVISIBLE, 'gu')

/**
 * The name of a stream for one line of a terminal: like `visibleText`, and invisible characters are made visible too,
 * so that no two names look the same.
 */
export function visibleName(name: string): string {
  const text = visibleText(name)
  return INVISIBLE.test(text) ? text.replace(ALL_INVISIBLE, escaped) : text
}

function visibleCharacter(character: string): string {
  const code = character.charCodeAt(0)
  if (code < 0x20) return String.fromCharCode(0x2400 + code)
  return code === 0x7f ? '\u2421' : escaped(character)
}

function escaped(character: string): string {
  return `\\u{${(character.codePointAt(0) ?? 0).toString(16)}}`
}
