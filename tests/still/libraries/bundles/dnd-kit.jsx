import { useState } from "react";
import { createRoot } from "react-dom/client";
import { DndContext, KeyboardSensor, PointerSensor, useSensor, useSensors } from "@dnd-kit/core";
import {
  SortableContext,
  arrayMove,
  sortableKeyboardCoordinates,
  useSortable,
  verticalListSortingStrategy,
} from "@dnd-kit/sortable";

function Card({ id }) {
  const { attributes, listeners, setNodeRef, transform, transition } = useSortable({ id });
  const style = {
    height: 40,
    width: 200,
    border: "1px solid",
    transition,
    transform: transform ? `translate(${transform.x}px, ${transform.y}px)` : undefined,
  };
  return (
    <div ref={setNodeRef} id={id} style={style} {...attributes} {...listeners}>
      {id}
    </div>
  );
}

function Board() {
  const [cards, setCards] = useState(["ash", "birch", "cedar", "elm", "fir"]);
  const sensors = useSensors(
    useSensor(PointerSensor, { activationConstraint: { distance: 5 } }),
    useSensor(KeyboardSensor, { coordinateGetter: sortableKeyboardCoordinates }),
  );
  return (
    <DndContext
      sensors={sensors}
      onDragStart={({ active }) => say(`start.${active.id}`)}
      onDragOver={({ over }) => say(`over.${over?.id}`)}
      onDragCancel={() => say("cancel")}
      onDragEnd={({ active, over }) => {
        say(`end.${active.id}.${over?.id}`);
        if (over) {
          setCards((all) => arrayMove(all, all.indexOf(active.id), all.indexOf(over.id)));
        }
      }}
    >
      <SortableContext items={cards} strategy={verticalListSortingStrategy}>
        {cards.map((id) => (
          <Card key={id} id={id} />
        ))}
      </SortableContext>
    </DndContext>
  );
}

createRoot(document.getElementById("app")).render(<Board />);
