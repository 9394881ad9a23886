/** Longest text of a notification. UTF-16 units. */
const MOST_TEXT = 200

/**
 * Rings the bell and shows a desktop notification, in the two forms that terminals know: OSC 9 and OSC 777. Inside tmux
 * they are wrapped, for it drops what it does not know.
 */
export function notification(text: string, isInTmux: boolean): string {
  // A semicolon would end the field.
  const plain = printable(text).replaceAll(';', ',').slice(0, MOST_TEXT)
  const sequences = `\x1b]9;${plain}\x07\x1b]777;notify;leasectl;${plain}\x07`
  return `\x07${isInTmux ? `\x1bPtmux;${sequences.replaceAll('\x1b', '\x1b\x1b')}\x1b\\` : sequences}`
}

/** Sets the title of the window. */
export function windowTitle(text: string): string {
  return `\x1b]2;${printable(text).slice(0, MOST_TEXT)}\x07`
}

/** Keeps the title that the window has, and restores it. */
export const SAVE_TITLE = '\x1b[22;2t'
export const RESTORE_TITLE = '\x1b[23;2t'

/** Texts are made safe before; nothing may end a sequence early. */
function printable(text: string): string {
  return text.replace(/\p{Control}/gu, ' ')
}
