import { useState } from "react";
import { createRoot } from "react-dom/client";
import { List, useListRef } from "react-window";

function Row({ index, style, pick }) {
  return (
    <div style={style} onClick={() => pick(index)}>
      line {index}
    </div>
  );
}

function Page() {
  const list = useListRef(null);
  const [picked, setPicked] = useState([]);
  const pick = (index) => {
    say(`pick.${index}`);
    setPicked((before) => [...before, index]);
  };
  return (
    <>
      <button id="far" onClick={() => list.current?.scrollToRow({ index: 700, behavior: "smooth" })}>
        far
      </button>
      <button id="near" onClick={() => list.current?.scrollToRow({ index: 3 })}>
        near
      </button>
      <p>{picked.join(", ")}</p>
      <div id="box" style={{ height: 300, width: 300 }}>
        <List
          listRef={list}
          rowComponent={Row}
          rowCount={1000}
          rowHeight={25}
          rowProps={{ pick }}
          onRowsRendered={({ startIndex }) => say(`from.${startIndex}`)}
        />
      </div>
    </>
  );
}

createRoot(document.getElementById("app")).render(<Page />);
