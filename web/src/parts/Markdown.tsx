import { Lexer, type Token, type Tokens } from 'marked';
import { Fragment, memo, useMemo, type ReactNode } from 'react';
import { Code } from './Code';
import css from './Markdown.module.css';

// Renders untrusted Markdown. Tokens become React elements, never HTML; anything else stays text.

/** Nesting limit, against texts made to be slow. */
const MAX_DEPTH = 12;
/** Longest text that is parsed; a longer one is shown as it is. */
const MAX_LENGTH = 100_000;

const ENTITIES: Readonly<Record<string, string>> = { amp: '&', lt: '<', gt: '>', quot: '"', '#39': "'", nbsp: '\u00a0' };

function decodeEntities(text: string): string {
  return text.replaceAll(/&(amp|lt|gt|quot|#39|nbsp);/g, (whole, name: string) => ENTITIES[name] ?? whole);
}

/**
 * Returns an http or https address, otherwise null: other schemes could run code or imitate the
 * page.
 */
export function toSafeUrl(href: string): string | null {
  try {
    const url = new URL(href);
    return url.protocol === 'http:' || url.protocol === 'https:' ? url.href : null;
  } catch {
    return null;
  }
}

function renderLink(href: string, children: ReactNode, text: string): ReactNode {
  const address = toSafeUrl(href);
  if (address === null) {
    return text === href ? children : (
      <>
        {children} <code>{href}</code>
      </>
    );
  }
  return (
    <a href={address} rel="noreferrer noopener" target="_blank">
      {children}
    </a>
  );
}

function renderTokens(tokens: readonly Token[] | undefined, depth: number): ReactNode {
  return tokens?.map((token, at) => <Fragment key={at}>{renderToken(token, depth)}</Fragment>);
}

function renderHeading(token: Tokens.Heading, depth: number): ReactNode {
  const children = renderTokens(token.tokens, depth);
  // Headings start below those of the page.
  if (token.depth === 1) return <h3>{children}</h3>;
  return token.depth === 2 ? <h4>{children}</h4> : <h5>{children}</h5>;
}

function renderList(token: Tokens.List, depth: number): ReactNode {
  const items = token.items.map((item, at) => (
    <li key={at} className={item.task ? css.task : undefined}>
      {item.task && <input type="checkbox" checked={item.checked === true} readOnly disabled aria-label={item.checked === true ? 'done' : 'open'} />}{' '}
      {renderTokens(item.tokens, depth)}
    </li>
  ));
  const start = typeof token.start === 'number' && token.start !== 1 ? token.start : undefined;
  return token.ordered ? <ol start={start}>{items}</ol> : <ul>{items}</ul>;
}

function renderTable(token: Tokens.Table, depth: number): ReactNode {
  return (
    <div className={css.table}>
      <table>
        <thead>
          <tr>
            {token.header.map((cell, at) => (
              <th key={at}>{renderTokens(cell.tokens, depth)}</th>
            ))}
          </tr>
        </thead>
        <tbody>
          {token.rows.map((row, at) => (
            <tr key={at}>
              {row.map((cell, column) => (
                <td key={column}>{renderTokens(cell.tokens, depth)}</td>
              ))}
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}

function renderToken(source: Token, parentDepth: number): ReactNode {
  const depth = parentDepth + 1;
  // The library's token union does not declare `raw` for every type, but every token has it.
  const token = source as Tokens.Generic & { raw: string };
  if (depth > MAX_DEPTH) return token.raw;
  switch (source.type) {
    case 'space':
    case 'def':
      return null;
    case 'heading':
      return renderHeading(source as Tokens.Heading, depth);
    case 'paragraph':
      return <p>{renderTokens(token.tokens, depth)}</p>;
    case 'text':
      return token.tokens === undefined ? decodeEntities(String(token['text'])) : renderTokens(token.tokens, depth);
    case 'escape':
      return decodeEntities(String(token['text']));
    case 'strong':
      return <strong>{renderTokens(token.tokens, depth)}</strong>;
    case 'em':
      return <em>{renderTokens(token.tokens, depth)}</em>;
    case 'del':
      return <del>{renderTokens(token.tokens, depth)}</del>;
    case 'br':
      return <br />;
    case 'hr':
      return <hr />;
    case 'codespan':
      return <code>{decodeEntities(String(token['text']))}</code>;
    case 'code':
      return <Code text={String(token['text'])} language={typeof token['lang'] === 'string' && token['lang'] !== '' ? token['lang'] : null} />;
    case 'blockquote':
      return <blockquote>{renderTokens(token.tokens, depth)}</blockquote>;
    case 'list':
      return renderList(source as Tokens.List, depth);
    case 'table':
      return renderTable(source as Tokens.Table, depth);
    case 'link':
      return renderLink(String(token['href']), renderTokens(token.tokens, depth), String(token['text']));
    case 'image':
      // Images are not loaded; a link replaces them.
      return renderLink(String(token['href']), `picture: ${String(token['text'] === '' ? token['href'] : token['text'])}`, '');
    default:
      return token.raw;
  }
}

/** Parses a text; returns null if it is too long or too deep for the parser. */
function parseMarkdown(text: string): readonly Token[] | null {
  if (text.length > MAX_LENGTH) return null;
  try {
    return Lexer.lex(text, { gfm: true, breaks: true });
  } catch {
    return null;
  }
}

/** Safe rendering of Markdown from agents. */
export const Markdown = memo(function Markdown({ text }: { readonly text: string }) {
  const tokens = useMemo(() => parseMarkdown(text), [text]);
  if (tokens === null) return <div className={`${css.markdown} ${css.plain}`}>{text}</div>;
  return <div className={css.markdown}>{renderTokens(tokens, 0)}</div>;
});
