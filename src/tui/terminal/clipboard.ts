/** Terminals take no more; some drop the connection at longer ones. Bytes of the text. */
const MOST_BYTES = 50_000

/**
 * The escape sequence (OSC 52) that asks the terminal to take a text into its clipboard, here and over SSH. tmux hands it
 * on by itself where `set-clipboard` is on, and wrapped where `allow-passthrough` is: it gets both.
 *
 * @returns `undefined` for texts of more than 50 000 bytes
 */
export function clipboardSequence(text: string, isInTmux: boolean): string | undefined {
  const bytes = Buffer.from(text, 'utf8')
  if (bytes.length > MOST_BYTES) return undefined
  const plain = `\x1b]52;c;${bytes.toString('base64')}\x07`
  return isInTmux ? `${plain}\x1bPtmux;${plain.replaceAll('\x1b', '\x1b\x1b')}\x1b\\` : plain
}
